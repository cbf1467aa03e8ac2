import streamlit as st


def show():
    st.write("To come.")
